// The service of k6-scripts/protos/laboratory.proto with gRPC's own library for Go, and with its services for health and
// reflection. Arguments: the folder of the definitions, and `v1`, `v1alpha` or `both` for the versions of reflection; for TLS
// with certificates on both sides also an authority, a certificate and its key, files in PEM. Writes its address in one line
// to standard output.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
)

func main() {
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: os.Args[1:2]})}
	files, err := compiler.Compile(context.Background(), "laboratory.proto", "shared/kinds.proto")
	check(err)
	for _, file := range files {
		check(protoregistry.GlobalFiles.RegisterFile(file))
	}
	service := files[0].Services().Get(0)
	server := grpc.NewServer(secured(os.Args[3:])...)
	server.RegisterService(describe(service), nil)
	states := health.NewServer()
	states.SetServingStatus("sick", healthpb.HealthCheckResponse_NOT_SERVING)
	healthpb.RegisterHealthServer(server, states)
	options := reflection.ServerOptions{Services: server}
	if os.Args[2] != "v1alpha" {
		grpc_reflection_v1.RegisterServerReflectionServer(server, reflection.NewServerV1(options))
	}
	if os.Args[2] != "v1" {
		grpc_reflection_v1alpha.RegisterServerReflectionServer(server, reflection.NewServer(options))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr())
	check(server.Serve(listener))
}

// secured gives the options of a server that speaks TLS; none without files.
func secured(files []string) []grpc.ServerOption {
	if len(files) == 0 {
		return nil
	}
	authority, err := os.ReadFile(files[0])
	check(err)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(authority)
	own, err := tls.LoadX509KeyPair(files[1], files[2])
	check(err)
	config := &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	return []grpc.ServerOption{grpc.Creds(credentials.NewTLS(config))}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// describe makes handlers for the methods, with messages that need no generated code.
func describe(service protoreflect.ServiceDescriptor) *grpc.ServiceDesc {
	described := &grpc.ServiceDesc{ServiceName: string(service.FullName()), HandlerType: (*any)(nil), Metadata: service.ParentFile().Path()}
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		name := string(method.Name())
		if method.IsStreamingClient() || method.IsStreamingServer() {
			described.Streams = append(described.Streams, grpc.StreamDesc{
				StreamName:    name,
				ServerStreams: method.IsStreamingServer(),
				ClientStreams: method.IsStreamingClient(),
				Handler:       func(_ any, stream grpc.ServerStream) error { return streams(method, stream) },
			})
			continue
		}
		described.Methods = append(described.Methods, grpc.MethodDesc{
			MethodName: name,
			Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				request := dynamicpb.NewMessage(method.Input())
				if err := decode(request); err != nil {
					return nil, err
				}
				return unary(ctx, method, request)
			},
		})
	}
	return described
}

func get(message *dynamicpb.Message, name protoreflect.Name) protoreflect.Value {
	return message.Get(message.Descriptor().Fields().ByName(name))
}

func with(kind protoreflect.MessageDescriptor, name protoreflect.Name, value any) *dynamicpb.Message {
	message := dynamicpb.NewMessage(kind)
	message.Set(kind.Fields().ByName(name), protoreflect.ValueOf(value))
	return message
}

func unary(ctx context.Context, method protoreflect.MethodDescriptor, request *dynamicpb.Message) (any, error) {
	switch method.Name() {
	case "Echo":
		return request, nil
	case "Greet":
		incoming, _ := metadata.FromIncomingContext(ctx)
		own := metadata.MD{}
		for name, values := range incoming {
			if strings.HasPrefix(name, "x-") {
				own[name] = values
			}
		}
		if err := grpc.SetHeader(ctx, own); err != nil {
			return nil, err
		}
		if err := grpc.SetTrailer(ctx, own); err != nil {
			return nil, err
		}
		return with(method.Output(), "name", "hello "+get(request, "name").String()), nil
	case "Fail":
		failure := status.New(codes.Code(get(request, "code").Int()), get(request, "message").String())
		detailed, err := failure.WithDetails(durationpb.New(3 * time.Second))
		if err != nil {
			return nil, err
		}
		return nil, detailed.Err()
	default: // Wait
		ms := get(request, "ms").Int()
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
			return with(method.Output(), "name", fmt.Sprintf("after %d", ms)), nil
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
}

func streams(method protoreflect.MethodDescriptor, stream grpc.ServerStream) error {
	receive := func() (*dynamicpb.Message, error) {
		message := dynamicpb.NewMessage(method.Input())
		return message, stream.RecvMsg(message)
	}
	switch method.Name() {
	case "Count":
		request, err := receive()
		if err != nil {
			return err
		}
		for value := range get(request, "n").Int() {
			if err := stream.SendMsg(with(method.Output(), "value", value+1)); err != nil {
				return err
			}
		}
		select {
		case <-time.After(time.Duration(get(request, "ms").Int()) * time.Millisecond):
			return nil
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
	case "Sum":
		sum := int64(0)
		for {
			request, err := receive()
			if err == io.EOF {
				return stream.SendMsg(with(method.Output(), "value", sum))
			}
			if err != nil {
				return err
			}
			sum += get(request, "value").Int()
		}
	default: // Chat
		for {
			request, err := receive()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			name := get(request, "name").String()
			if name == "fail" {
				return status.Error(codes.Aborted, "as told")
			}
			if err := stream.SendMsg(with(method.Output(), "name", "hello "+name)); err != nil {
				return err
			}
		}
	}
}
