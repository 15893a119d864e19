declare module "k6/crypto/x509" {
  /** A text in PEM, or its bytes. */
  export type Pem = string | ArrayBuffer | ArrayBufferView;

  export interface Issuer {
    commonName: string;
    country: string;
    stateOrProvinceName: string;
    localityName: string;
    organizationName: string;
    /** All parts of the name: object identifiers with their values. */
    names: { type: string; value: string }[];
  }

  export interface Subject extends Issuer {
    postalCode: string;
    streetAddress: string;
    organizationalUnitName: string[];
  }

  export type PublicKey =
    | { algorithm: "RSA"; key: { n: bigint; e: number; size(): number } }
    | { algorithm: "DSA"; key: { p: bigint; q: bigint; g: bigint; y: bigint } }
    | { algorithm: "ECDSA"; key: { curve: { params(): { name: string; bitSize: number } }; x: bigint; y: bigint } };

  export interface Certificate {
    subject: Subject;
    issuer: Issuer;
    /** `2026-01-01T00:00:00Z` */
    notBefore: string;
    notAfter: string;
    /** Hosts, then addresses of mail, of hosts, and URLs. */
    altNames: string[];
    signatureAlgorithm: string;
    /** The 20 bytes of its SHA-1. */
    fingerPrint: number[];
    publicKey: PublicKey;
  }

  export function parse(certificate: Pem): Certificate;
  export function getAltNames(certificate: Pem): string[];
  export function getIssuer(certificate: Pem): Issuer;
  export function getSubject(certificate: Pem): Subject;
  const all: Omit<typeof import("k6/crypto/x509"), "default">;
  export default all;
}
