/** What GET / answers: every path that leads to something. */
import { PreparedDocument } from "./prepared-document.ts";

/** `others`: what is served beside the API, such as /healthz and /metrics. */
export function rootPaths(discovered: readonly string[], others: readonly string[]): PreparedDocument {
  return new PreparedDocument("io.k8s.apimachinery.pkg.apis.meta.v1.RootPaths", () => ({
    paths: [...new Set([...discovered, ...others])].sort(),
  }));
}
