// Package farm is a set of MCP servers that misbehave, each in one way, on real
// loopback sockets: silent, dripping, flooding and resetting ones, nonsense in every
// place of the protocol, and what is legal but odd. Each says what a careful client
// makes of it.
//
// A server is used as often as one likes: a client chooses a run, any word, and
// finds the server of that run under [Farm.URL]. The farm remembers what was asked of
// it in that run, and judges what the client made of it:
//
//	f, err := farm.Start()
//	defer f.Close()
//	for _, c := range farm.Cases() {
//		outcome := farm.Visit(connect, f.Task(c, "1"))
//		problems := f.Judge(c.Name, "1", outcome)
//	}
//
// Clients in other languages do the same over HTTP; see the command serve.
package farm
