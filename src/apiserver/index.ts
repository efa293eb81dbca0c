export { AdmissionConfigError, type AdmissionOptions, parseAdmissionConfiguration } from "./admission/index.ts";
export type { LocalExtension, LocalExtensions } from "./aggregation/index.ts";
export {
  AuditConfigError,
  type AuditSettings,
  DEFAULT_TRUNCATION as DEFAULT_AUDIT_TRUNCATION,
  MODES as AUDIT_MODES,
  type Mode as AuditMode,
  parsePolicy as parseAuditPolicy,
  type WriteLines,
} from "./audit/index.ts";
export {
  type AuthenticationConfiguration,
  type AuthenticationSettings,
  authenticatorOfFlags,
  ConfigurationError,
  DEFAULT_ISSUER,
  KeyFileError,
  type OidcFlags,
  openExternalSigner,
  type PemFile,
  parseAuthenticationConfiguration,
  parseTokenFile,
  type RequestHeaderOptions,
  type ServiceAccountSettings,
  SIGNING_ALGORITHMS,
  STANDARD_HEADERS,
  TokenFileError,
  tokenSigner,
  type WebhookSettings,
} from "./authn/index.ts";
export { AuthorizationConfigError, type AuthorizationFlags, type ModeSpec, readAuthorization } from "./authz/index.ts";
export { identityName, RECONCILER_TYPES } from "./bootstrap/index.ts";
export {
  dialMetrics,
  type Egress,
  EgressConfigError,
  type EgressSelections,
  egress,
  parseEgress,
} from "./egress/index.ts";
export { Encryption, EncryptionConfigError, parseEncryptionConfiguration } from "./encryption/index.ts";
export { SCHEDULING_PATH } from "./flows/index.ts";
export { type ApiRequest, type ApiResponse, type Handle, isStream } from "./http/exchange.ts";
export type { NamedCertificate, TlsSettings } from "./http/tls-servers.ts";
export { STORE_PREFIX } from "./rest/resource.ts";
export { answerHealth, type HealthCheck } from "./routes/health.ts";
export { healthMetrics } from "./routes/health-metrics.ts";
export { K8TS_VERSION, KUBERNETES_VERSION, registerVersionMetrics, versionInfo } from "./routes/version.ts";
export { answerZPage, servedZPages, type ZPageFacts } from "./routes/z-pages.ts";
export { type ApiServer, startApiServer } from "./server.ts";
export type {
  ApiServerOptions,
  FairnessSettings,
  ServiceSettings,
  ServingOptions,
  ShutdownOptions,
} from "./server-options.ts";
export { STORAGE_MEDIA_TYPES, type StorageMediaType, type StorageSettings } from "./storage/index.ts";
export type { ServingThread } from "./threads/index.ts";
