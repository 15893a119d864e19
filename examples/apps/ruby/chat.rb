#!/usr/bin/env ruby
# frozen_string_literal: true

# A chat behind a cable server, over gRPC. README.md says how to run it.

$LOAD_PATH.unshift File.join(__dir__, "lib")
require "rpc_services_pb"
require "broadcaster"
require "chat"

# AnyCable's RPC service: takes requests apart and puts responses together.
class ChatService < Anycable::RPC::Service
  def initialize(chat)
    super()
    @chat = chat
  end

  def connect(request, call)
    respond(Anycable::ConnectionResponse) do
      @chat.connect(request.env&.headers.to_h.fetch("cookie", ""), call.metadata["sid"])
    end
  end

  def command(request, _call)
    respond(Anycable::CommandResponse) do
      @chat.command(request.command, request.identifier, request.connection_identifiers, request.data)
    end
  end

  # Tells that a session is over. This chat keeps nothing of it.
  def disconnect(_request, _call)
    Anycable::DisconnectResponse.new(status: :SUCCESS)
  end

  private

  # The server logs the text of an ERROR, and treats the command as failed.
  def respond(response)
    response.new(**yield)
  rescue StandardError => e
    response.new(status: :ERROR, error_msg: e.message)
  end
end

address = ENV.fetch("ANYCABLE_RPC_HOST", "127.0.0.1:50051")
chat = Chat.new(Broadcaster.from_env(ENV))
server = GRPC::RpcServer.new(pool_size: Integer(ENV.fetch("ANYCABLE_RPC_POOL_SIZE", "30")))
server.add_http2_port(address, :this_port_is_insecure)
server.handle(ChatService.new(chat))
$stdout.puts "The chat listens on #{address}."
$stdout.flush
server.run_till_terminated_or_interrupted(%w[INT TERM])
