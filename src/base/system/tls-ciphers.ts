/**
 * Cipher suites for servers, in OpenSSL's names: forward secrecy and authenticated encryption, and nothing else. Node's
 * own list ends in whatever OpenSSL counts as strong, CBC modes and key exchanges without forward secrecy among them.
 */
export const STRONG_CIPHERS: readonly string[] = [
  // TLS 1.3.
  ...["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"],
  // TLS 1.2.
  ...["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ...["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ...["ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"],
];
