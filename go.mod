module github.com/portolan-mcp/portolan

go 1.26
