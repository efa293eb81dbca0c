import type { Authorizer } from "../../authz/authorizer.ts";
import type { Resources } from "../../rest/resources.ts";
import type { ServerContext } from "../../rest/server-context.ts";

/** The parts of the server that plugins are made with. */
export interface PluginServices {
  readonly resources: Resources;
  /** Called when a request arrives, not before: the context holds the chain. */
  context(): ServerContext;
  readonly authorize: Authorizer;
  /** A controller creates the ServiceAccount `default` in each namespace: Pods wait for it. */
  readonly requireDefaultAccount: boolean;
}
