/** Proxies for tests. */
export { type ConnectProxy, connectProxy } from "./connect-proxy.ts";
export { type KonnectivityServer, konnectivityServer } from "./konnectivity-server.ts";
