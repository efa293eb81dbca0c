/** Encryption at rest: see README.md. */
export { EncryptionConfigError, parseEncryptionConfiguration, type ResourceSettings } from "./configuration.ts";
export { Encryption, type EncryptionOptions } from "./encryption.ts";
