package api

import "github.com/portolan-mcp/portolan/registry"

// Pins are what earlier runs have approved, by endpoint, as Host.Pins was told.
type Pins map[string]string

// Store returns what a registry keeps them in: the host.
func (p Pins) Store(host interface {
	Pins(server, key, pins string)
}) registry.PinStore {
	return pinStore{p, host}
}

type pinStore struct {
	loaded Pins
	host   interface {
		Pins(server, key, pins string)
	}
}

// LoadPins is called once for each key.
func (s pinStore) LoadPins(key string) (string, error) { return s.loaded[key], nil }

func (s pinStore) SavePins(server, key, pins string) error {
	s.host.Pins(server, key, pins)
	return nil
}
