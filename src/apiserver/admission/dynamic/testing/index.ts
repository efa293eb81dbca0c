export { type DynamicServer, type DynamicServerOptions, dynamicServer } from "./dynamic-server.ts";
