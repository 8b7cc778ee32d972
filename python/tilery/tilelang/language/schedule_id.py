"""The key of an annotation that names a statement for a schedule: `annotations={T.WSID: "copy"}`."""

WSID = "ws_op_id"
