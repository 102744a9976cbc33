"""Patches in the `*** Begin Patch` form, as several agents' models write them."""

from hookonce.model import Object

_FILE_HEADERS = {"*** Add File: ": "create", "*** Update File: ": "update", "*** Delete File: ": "delete"}
_MOVE_HEADER = "*** Move to: "


def parse_patch_files(patch: str) -> list[Object]:
    """Parse the patch headers: each file that the patch touches, with its operation."""
    files: list[Object] = []
    for line in patch.splitlines():
        if line.startswith(_MOVE_HEADER) and files:
            files[-1]["moved_to"] = line[len(_MOVE_HEADER) :].strip()
        for header, operation in _FILE_HEADERS.items():
            if line.startswith(header):
                files.append({"path": line[len(header) :].strip(), "operation": operation})
    return files


def shape_patch(name: str, arguments: Object) -> tuple[str, Object]:
    """Shape a patch call: file_write if every file is new, else file_edit; adds `files`, and `path` for one file."""
    patch = arguments.get("patch")
    if type(patch) is not str:
        return name, arguments
    files = parse_patch_files(patch)
    if not files:
        return name, arguments
    patch_arguments = arguments | {"files": files}
    if len(files) == 1:
        patch_arguments["path"] = files[0]["path"]
    is_new = all(file["operation"] == "create" for file in files)
    return ("file_write" if is_new else "file_edit"), patch_arguments
