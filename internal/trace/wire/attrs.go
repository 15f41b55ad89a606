package wire

// Attributes of thread rows in which package writer stores members of the model that the format lacks.
const (
	AttrHost        = "host.name"
	AttrPointerSize = "ntconv.pointer-size"
	AttrProcessName = "ntconv.process-name"
	AttrProcess     = "ntconv.process." // prefix of an attribute of the process
)
