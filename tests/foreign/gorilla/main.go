// A peer for `plimsoll conform websocket`: gorilla/websocket as an echo server (`serve`), which prints its port, or as a client
// that goes through the cases of the suite (`visit ws://127.0.0.1:9001`). Compression is on in both roles.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/gorilla/websocket"
)

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		serve()
	case len(os.Args) == 3 && os.Args[1] == "visit":
		visitAll(os.Args[2])
	default:
		log.Fatal("usage: gorilla-peer serve | visit ws://HOST:PORT")
	}
}

// echo sends every message back until the connection ends.
func echo(connection *websocket.Conn) {
	defer connection.Close()
	for {
		kind, data, err := connection.ReadMessage()
		if err != nil {
			return
		}
		if err := connection.WriteMessage(kind, data); err != nil {
			return
		}
	}
}

func serve() {
	upgrader := websocket.Upgrader{
		EnableCompression: true,
		CheckOrigin:       func(*http.Request) bool { return true },
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	handler := func(writer http.ResponseWriter, request *http.Request) {
		// Upgrade has answered a request that it refuses.
		if connection, err := upgrader.Upgrade(writer, request, nil); err == nil {
			echo(connection)
		}
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(handler)))
}

// open connects to a path of the suite; nil if the client refuses the answer.
func open(url string) *websocket.Conn {
	dialer := websocket.Dialer{EnableCompression: true}
	connection, _, err := dialer.Dial(url, nil)
	if err != nil {
		return nil
	}
	return connection
}

func visitAll(base string) {
	connection := open(base + "/getCaseCount")
	if connection == nil {
		log.Fatal("no suite at ", base)
	}
	_, text, err := connection.ReadMessage()
	if err != nil {
		log.Fatal(err)
	}
	connection.Close()
	count, err := strconv.Atoi(string(text))
	if err != nil {
		log.Fatal(err)
	}
	for number := 1; number <= count; number++ {
		if connection := open(fmt.Sprintf("%s/runCase?case=%d&agent=gorilla", base, number)); connection != nil {
			echo(connection)
		}
	}
	if connection := open(base + "/updateReports?agent=gorilla"); connection != nil {
		echo(connection)
	}
}
