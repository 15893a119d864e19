// Stream names signed by Rails itself.

import { execFileSync } from "node:child_process";

const SCRIPT = `
  require "active_support"
  require "active_support/message_verifier"
  require "base64"
  require "json"
  require "openssl"
  key, way, *names = ARGV
  verifier = ActiveSupport::MessageVerifier.new(key, digest: "SHA256", serializer: JSON)
  names.each do |name|
    if way == "rails"
      puts verifier.generate(name)
    else
      # AnyCable's gem encodes for URLs.
      encoded = Base64.urlsafe_encode64(name.to_json)
      puts encoded + "--" + OpenSSL::HMAC.hexdigest("SHA256", key, encoded)
    end
  end
`;

/** `way` is `rails` (ActiveSupport::MessageVerifier, as Turbo signs) or `anycable` (the gem's URL-safe base64). */
export function signNames(key, way, ...names) {
  return execFileSync("ruby", ["-e", SCRIPT, key, way, ...names], { encoding: "utf8" }).trim().split("\n");
}
