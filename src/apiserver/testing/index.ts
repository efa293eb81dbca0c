/** An API server in memory, for tests: see `testServer`. */
export type { ListAnswer, RequestOptions, TestAnswer } from "./exchange.ts";
export { HeldStore } from "./held-store.ts";
export { configMap, deployment, type Meta, namespace } from "./objects.ts";
export { ADMIN, type TestServer, type TestServerOptions, testServer } from "./test-server.ts";
export type { TestWatch, TestWatchOptions, WatchLine } from "./test-watch.ts";
