package client

import (
	"strconv"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// The protocol versions spoken. From 2026-07-28 on (the modern era) there is no
// session and no initialize; every request says who asks, in _meta and headers.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25" // offered to initialize; the server may name an older one
)

func isLegacy(version string) bool {
	switch version {
	case "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05":
		return true
	}
	return false
}

// requestMessage builds a JSON-RPC request. params and meta are members without braces.
func requestMessage(id int64, method string, params, meta []byte) []byte {
	b := make([]byte, 0, 96+len(method)+len(params)+len(meta))
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, id, 10)
	return finish(b, method, params, meta)
}

func notificationMessage(method string, params, meta []byte) []byte {
	return finish([]byte(`{"jsonrpc":"2.0"`), method, params, meta)
}

func finish(b []byte, method string, params, meta []byte) []byte {
	b = append(b, `,"method":"`...)
	b = append(b, method...)
	b = append(b, `","params":{`...)
	b = append(b, params...)
	if len(meta) > 0 {
		if len(params) > 0 {
			b = append(b, ',')
		}
		b = append(b, `"_meta":{`...)
		b = append(b, meta...)
		b = append(b, '}')
	}
	return append(b, "}}"...)
}

// reply answers a request of the server. id is raw JSON.
func reply(id, result []byte) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + string(result) + "}")
}

func replyError(id []byte, code int64, message string) []byte {
	b := []byte(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":` + strconv.FormatInt(code, 10) + `,"message":`)
	return append(rawjson.AppendString(b, message), "}}"...)
}

// member appends "key":"value" to members.
func member(members []byte, key, value string) []byte {
	return rawjson.AppendString(rawjson.AppendMember(members, key, nil), value)
}

// membersOf returns the members of an object without its braces: all, or those whose names fit.
func membersOf(object []byte, fits func(name string) bool) (members []byte) {
	_ = rawjson.Members(object, func(key string, value []byte) error {
		if fits == nil || fits(key) {
			members = rawjson.AppendMember(members, key, value)
		}
		return nil
	})
	return members
}

func joinMembers(a, b []byte) []byte {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	return append(append(a, ','), b...)
}
