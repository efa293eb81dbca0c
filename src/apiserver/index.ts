export { parseTokenFile, TokenFileError } from "./authn/token-file.ts";
export { type ApiServer, type ApiServerOptions, startApiServer } from "./server.ts";
export { K8TS_VERSION, KUBERNETES_VERSION, versionInfo } from "./version.ts";
