module plimsoll.invalid/gorilla-peer

go 1.25.0

require github.com/gorilla/websocket v1.5.3
