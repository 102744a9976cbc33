"""Patches in the `*** Begin Patch` form, as several agents' models write them."""

from hookonce.model import Object

_HEADS = {"*** Add File: ": "create", "*** Update File: ": "update", "*** Delete File: ": "delete"}
_MOVE = "*** Move to: "


def files_of(patch: str) -> list[Object]:
    """Each file that the patch touches, with what becomes of it."""
    files: list[Object] = []
    for line in patch.splitlines():
        if line.startswith(_MOVE) and files:
            files[-1]["moved_to"] = line[len(_MOVE) :].strip()
        for head, operation in _HEADS.items():
            if line.startswith(head):
                files.append({"path": line[len(head) :].strip(), "operation": operation})
    return files


def shape(name: str, arguments: Object) -> tuple[str, Object]:
    """A patch call: a write if every file is new, else an edit; the files listed, the path if there is one."""
    patch = arguments.get("patch")
    if type(patch) is not str:
        return name, arguments
    files = files_of(patch)
    if not files:
        return name, arguments
    shaped = arguments | {"files": files}
    if len(files) == 1:
        shaped["path"] = files[0]["path"]
    new = all(file["operation"] == "create" for file in files)
    return ("file_write" if new else "file_edit"), shaped
