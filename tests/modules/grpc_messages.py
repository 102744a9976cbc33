"""Messages of Amplifier's gRPC services by the official library of Protocol Buffers: the oracle for our codec."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
ENUMS = {
    "HookAction": 6,  # how many numbers there are, from 0
    "ContextInjectionRole": 4,
    "ApprovalDefault": 3,
    "UserMessageLevel": 4,
}
MESSAGES = {
    "ToolSpec": "string name; string description; string parameters_json",
    "ToolExecuteRequest": "bytes input; string content_type",
    "ToolExecuteResponse": "bool success; bytes output; string content_type; string error; repeated bytes content_blocks",
    "HookHandleRequest": "string event; string data_json",
    "HookResult": """
        HookAction action; string data_json; string reason; string context_injection;
        ContextInjectionRole context_injection_role; bool ephemeral; string approval_prompt;
        repeated string approval_options; optional double approval_timeout; ApprovalDefault approval_default;
        bool suppress_output; string user_message; UserMessageLevel user_message_level; string user_message_source;
        bool append_to_last_tool_result""",
}


def _classes():
    file = descriptor_pb2.FileDescriptorProto(name="amplifier.proto", package="amplifier.module", syntax="proto3")
    for name, count in ENUMS.items():
        file.enum_type.add(name=name, value=[{"name": f"{name}_{number}", "number": number} for number in range(count)])
    for name, text in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, words in enumerate(text.split(";"), 1):
            *label, kind, field_name = words.split()
            field = message.field.add(name=field_name, number=number)
            field.label = FIELD.LABEL_REPEATED if label == ["repeated"] else FIELD.LABEL_OPTIONAL
            if label == ["optional"]:
                message.oneof_decl.add(name=f"_{field_name}")
                field.proto3_optional, field.oneof_index = True, 0
            if kind in ENUMS:
                field.type, field.type_name = FIELD.TYPE_ENUM, f".amplifier.module.{kind}"
            else:
                field.type = getattr(FIELD, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    find = pool.FindMessageTypeByName
    return {name: message_factory.GetMessageClass(find(f"amplifier.module.{name}")) for name in MESSAGES}


CLASSES = _classes()


def encode_fields(name, /, **fields):
    """The bytes of a message."""
    return CLASSES[name](**fields).SerializeToString()


def decode_fields(name, raw):
    """The message of these bytes."""
    return CLASSES[name].FromString(raw)
