//! `crypto.subtle` as scripts see it.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_script_signs_encrypts_and_derives() {
    check(
        "import { check } from 'k6';
         const { subtle } = crypto;
         const bytes = (text) => new TextEncoder().encode(text);
         const text = (buffer) => new TextDecoder().decode(buffer);
         const rsa = { modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
         export default async function () {
           const hmac = await subtle.importKey('raw', bytes('key'), { name: 'hmac', hash: 'sha-1' }, true, ['sign', 'verify']);
           const tag = await subtle.sign('HMAC', hmac, bytes('data'));
           check(hmac, {
             type: (k) => k.type === 'secret' && k.extractable && k instanceof crypto.CryptoKey,
             algorithm: (k) => JSON.stringify(k.algorithm) === '{\"name\":\"HMAC\",\"length\":24,\"hash\":{\"name\":\"SHA-1\"}}',
             usages: (k) => k.usages.join() === 'sign,verify',
             frozen: (k) => { try { k.type = 'x' } catch { return true } },
           });
           const pair = await subtle.generateKey({ name: 'RSA-OAEP', ...rsa }, false, ['encrypt', 'decrypt']);
           const secret = await subtle.encrypt('RSA-OAEP', pair.publicKey, bytes('hi'));
           const signer = await subtle.generateKey({ name: 'RSASSA-PKCS1-v1_5', ...rsa }, true, ['sign', 'verify']);
           const signature = await subtle.sign('RSASSA-PKCS1-v1_5', signer.privateKey, bytes('data'));
           const own = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits', 'deriveKey']);
           const other = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
           const a = await subtle.deriveBits({ name: 'ECDH', public: other.publicKey }, own.privateKey, 256);
           const b = await subtle.deriveBits({ name: 'ECDH', public: own.publicKey }, other.privateKey, null);
           const shared = await subtle.deriveKey({ name: 'ECDH', public: other.publicKey }, own.privateKey,
             { name: 'AES-GCM', length: 256 }, true, ['encrypt']);
           const password = await subtle.importKey('raw', bytes('pw'), 'PBKDF2', false, ['deriveKey']);
           const salted = { name: 'PBKDF2', hash: 'SHA-256', salt: bytes('salt'), iterations: 1000 };
           const aes = await subtle.deriveKey(salted, password, { name: 'AES-CBC', length: 128 }, true, ['encrypt', 'decrypt']);
           const iv = crypto.getRandomValues(new Uint8Array(16));
           const sealed = await subtle.encrypt({ name: 'AES-CBC', iv }, aes, new Uint8Array(0));
           const raw = new Uint8Array(await subtle.exportKey('raw', shared));
           const jwk = await subtle.exportKey('jwk', signer.publicKey);
           check(null, {
             hmac: () => tag.byteLength === 20,
             oaep: () => secret.byteLength === 128,
             ecdh: () => new Uint8Array(a).join() === new Uint8Array(b).join() && raw.join() === new Uint8Array(a).join(),
             padded: () => sealed.byteLength === 16,
             jwk: () => jwk.kty === 'RSA' && jwk.alg === 'RS256' && jwk.key_ops.join() === 'verify' && !('d' in jwk),
             modulus: () => signer.publicKey.algorithm.modulusLength === 1024
               && signer.publicKey.algorithm.publicExponent.join() === '1,0,1',
           });
           check(await subtle.verify('HMAC', hmac, tag, bytes('data')), { verified: (v) => v === true });
           check(await subtle.verify('HMAC', hmac, tag, bytes('xata')), { refuted: (v) => v === false });
           check(await subtle.verify('RSASSA-PKCS1-v1_5', signer.publicKey, signature, bytes('data')), { rsa: (v) => v });
           check(text(await subtle.decrypt({ name: 'RSA-OAEP' }, pair.privateKey, secret)), { decrypted: (t) => t === 'hi' });
           check(await subtle.decrypt({ name: 'AES-CBC', iv }, aes, sealed), { empty: (d) => d.byteLength === 0 });
           const views = [new Uint8Array([1, 2, 3]).subarray(1, 2), new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1)];
           for (const view of views) {
             const digest = await subtle.digest('SHA-1', view);
             check(new Uint8Array(digest)[0], { 'of its own bytes': (first) => first === 0xc4 });
           }
         }",
        &["checks=17/17"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn failures_have_the_names_of_the_specification() {
    check(
        "import { check } from 'k6';
         const { subtle } = crypto;
         const fails = async (name, part, promise) => {
           let error;
           try { await promise } catch (e) { error = e }
           check(error, { [`${name} ${part} ${error}`]: (e) => e instanceof Error && e.name === name && e.message.includes(part) });
         };
         export default async function () {
           const data = new Uint8Array(4);
           const key = await subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', false, ['encrypt']);
           await fails('NotSupportedError', 'SHA-3', subtle.digest('SHA-3', data));
           await fails('TypeError', 'the data of digest() is string', subtle.digest('SHA-256', 'text'));
           await fails('TypeError', 'expected a name or an object', subtle.digest());
           await fails('TypeError', 'needs `iv`', subtle.encrypt('AES-CBC', key, data));
           await fails('TypeError', 'expected a key', subtle.encrypt({ name: 'AES-CBC', iv: data }, {}, data));
           await fails('OperationError', 'has 4 bytes; expected 16', subtle.encrypt({ name: 'AES-CBC', iv: data }, key, data));
           await fails('InvalidAccessError', 'not extractable', subtle.exportKey('raw', key));
           await fails('NotSupportedError', 'wrapKey()', subtle.wrapKey('raw', key, key, 'AES-KW'));
           await fails('NotSupportedError', '`HKDF`', subtle.importKey('raw', data, 'HKDF', false, ['deriveBits']));
           await fails('DataError', 'no `n`', subtle.importKey('jwk', { kty: 'RSA' }, { name: 'RSA-PSS', hash: 'SHA-1' }, true, ['sign']));
           await fails('DataError', 'not a JSON Web Key', subtle.importKey('jwk', { kty: 7 }, 'AES-CBC', true, ['sign']));
           await fails('SyntaxError', 'must not be empty', subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', true, []));
           await fails('TypeError', '`fly` is not a key usage', subtle.importKey('raw', data, 'AES-CBC', true, ['fly']));
           await fails('Error', 'mine', subtle.digest({ get name() { throw new Error('mine') } }, data));
           await fails('TypeError', 'cannot be constructed', (async () => new crypto.CryptoKey())());
         }",
        &["checks=15/15"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_init_context_and_the_old_module_have_it() {
    check(
        "import { check } from 'k6';
         import { crypto as old } from 'k6/experimental/webcrypto';
         const password = await crypto.subtle.importKey('raw', new Uint8Array(3), 'PBKDF2', false, ['deriveBits']);
         const salted = { name: 'PBKDF2', hash: 'SHA-1', salt: new Uint8Array(3), iterations: 2 };
         const bits = await crypto.subtle.deriveBits(salted, password, 64);
         export default () => check(bits, { derived: (b) => b.byteLength === 8, same: () => old === crypto })",
        &["checks=2/2"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_promise_fails_the_iteration() {
    check_failure(
        "export default async () => { await crypto.subtle.digest('SHA-3', new Uint8Array(1)) }",
        "NotSupportedError: `SHA-3` is not a supported digest",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn slow_operations_do_not_hold_up_what_goes_on_beside_them() {
    check(
        "import { check } from 'k6';
         const { subtle } = crypto;
         const data = new Uint8Array(3);
         const salted = { name: 'PBKDF2', hash: 'SHA-256', salt: data, iterations: 100000 };
         const rsa = { name: 'RSA-PSS', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1' };
         export default async function () {
           const password = await subtle.importKey('raw', data, 'PBKDF2', false, ['deriveBits']);
           const { privateKey } = await subtle.generateKey(rsa, true, ['sign']);
           const curve = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, true, ['deriveBits']);
           const order = [];
           const slow = [
             subtle.sign({ name: 'RSA-PSS', saltLength: 4 }, privateKey, data),
             subtle.deriveBits({ name: 'ECDH', public: curve.publicKey }, curve.privateKey, 64),
             subtle.generateKey(rsa, true, ['sign']), subtle.deriveBits(salted, password, 64),
           ];
           const ended = slow.map((promise) => promise.then(() => order.push('slow')));
           await subtle.digest('SHA-1', data);
           order.push('digest');
           await Promise.all(ended);
           check(order, { 'the digest was first': (all) => all.join() === 'digest,slow,slow,slow,slow' });
         }",
        &["checks=1/1"],
    )
    .await;
}
