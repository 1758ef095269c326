package registry

import "errors"

// An Approval is what a user says of one call.
type Approval string

// Approvals. Always and Never are remembered, bound to the server's origin and
// path, the tool and its pin, but for servers with [AskAlways].
const (
	Once   Approval = "once"
	Always Approval = "always"
	Deny   Approval = "deny"
	Never  Approval = "never"
)

// An ApprovalRequest is a call that waits for its approval.
type ApprovalRequest struct {
	Server    string
	Tool      Tool   // with its definition, whose annotations are claims unless Trusted
	Arguments []byte // JSON text of an object
	Trusted   bool   // the user trusts the server
}

// ErrDenied: the user did not allow the call.
var ErrDenied = errors.New("the user did not allow the call")
