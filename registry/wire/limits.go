package wire

// A Limit is one field of registry.Limits and of Limits in types.ts.
type Limit struct {
	Name    string // in JavaScript
	Default int    // for 0 or nothing; the least value is 1, the greatest 1<<31 - 1
}

// Limits are the limits that the module knows, in the order of registry.Limits.
var Limits = [...]Limit{
	{"responseBytes", 16 << 20},
	{"eventBytes", 8 << 20},
	{"errorBytes", 64 << 10},
	{"messageBytes", 2 << 10},
	{"definitionBytes", 256 << 10},
	{"descriptionBytes", 16 << 10},
	{"depth", 128},
	{"schemaDepth", 32},
	{"schemaNodes", 4000},
	{"enumValues", 500},
	{"pages", 100},
	{"toolsPerServer", 1000},
	{"tools", 5000},
	{"listBytes", 16 << 20},
	{"resultBytes", ResultBytes},
	{"resultValues", 600_000},
	{"eventsPerSecond", 200},
	{"pingsPerSecond", 10},
	{"connects", 20},
	{"callsPerServer", 8},
	{"calls", 64},
}

// HostLimits are the limits that only the host in the browser knows.
var HostLimits = [...]Limit{{"memoryBytes", 256 << 20}}

// Defaults of the options of a registry.
const (
	FailureThreshold = 3
	CooldownMs       = 5_000
	TimeoutMs        = 10_000
	CallTimeoutMs    = 120_000
	IdleTimeoutMs    = 30_000
)

// ResultBytes is the default of limits.resultBytes, which pages need before a module runs.
const ResultBytes = 1 << 20
