# frozen_string_literal: true

require "json"

# The decisions of the chat, without a word about gRPC: who may connect, what a subscription hears, what an action does.
# The hashes that it returns have the names of AnyCable's responses.
class Chat
  User = Struct.new(:name, :id)

  def initialize(broadcaster)
    @broadcaster = broadcaster
  end

  # Accepts clients with a cookie `uid=<name>/<id>`. The identifiers come back with every later call.
  def connect(cookies, sid)
    user = sign_in(cookies)
    if user
      { status: :SUCCESS, identifiers: user.to_h.to_json, transmissions: [{ type: "welcome", sid: sid }.to_json] }
    else
      { status: :FAILURE, transmissions: [{ type: "disconnect", reason: "unauthorized", reconnect: false }.to_json] }
    end
  end

  # `command` is `subscribe`, `unsubscribe` or `message`; `data` belongs to a message and is JSON.
  def command(command, identifier, identifiers, data)
    stream = stream_of(identifier)
    case command
    when "subscribe" then subscribe(identifier, stream)
    when "unsubscribe" then { status: :SUCCESS, stop_streams: true }
    else perform(stream, identifiers, data)
    end
  end

  private

  def subscribe(identifier, stream)
    if stream
      confirmation = { type: "confirm_subscription", identifier: identifier }
      { status: :SUCCESS, streams: [stream], transmissions: [confirmation.to_json] }
    else
      rejection = { type: "reject_subscription", identifier: identifier }
      { status: :FAILURE, transmissions: [rejection.to_json] }
    end
  end

  def perform(stream, identifiers, data)
    action = parse(data)
    return { status: :FAILURE } unless stream && action["action"] == "speak" && action["message"].is_a?(String)

    user = parse(identifiers)
    message = { action: "newMessage", author_id: user["id"], author: user["name"], message: action["message"] }
    @broadcaster.broadcast(stream, message)
    { status: :SUCCESS }
  end

  # A name may hold a slash, an id does not.
  def sign_in(cookies)
    uid = cookies.split(/;\s*/).filter_map { |cookie| cookie[/\Auid=(.*)/m, 1] }.first
    name, slash, id = uid.to_s.rpartition("/")
    User.new(name, id) unless slash.empty? || name.empty? || id.empty?
  end

  def stream_of(identifier)
    channel = parse(identifier)
    id = channel["id"]
    "chat_#{id}" if channel["channel"] == "ChatChannel" && (id.is_a?(String) || id.is_a?(Numeric))
  end

  # A JSON object; an empty one when `text` is anything else.
  def parse(text)
    object = JSON.parse(text)
    object.is_a?(Hash) ? object : {}
  rescue JSON::ParserError
    {}
  end
end
