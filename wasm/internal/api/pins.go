package api

import "github.com/portolan-mcp/portolan/registry"

// Pins are what earlier runs have approved, by endpoint. Host.Pins stores them.
type Pins map[string]string

// Store returns what a registry keeps them in: the host.
func (p Pins) Store(host Host) registry.PinStore { return pinStore{p, host} }

type pinStore struct {
	loaded Pins
	host   Host
}

func (s pinStore) LoadPins(key string) (string, error) { return s.loaded[key], nil }

func (s pinStore) SavePins(server, key, pins string, fresh registry.FreshPins) error {
	s.host.Pins(server, key, pins, fresh)
	return nil
}
