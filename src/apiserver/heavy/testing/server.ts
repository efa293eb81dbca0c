/** A test server that also answers what is not stored: reviews, Bindings, Evictions, TokenRequests. */
import { staticTokens } from "../../authn/token-file.ts";
import { forApi } from "../../authn/verdict.ts";
import { alwaysAllow } from "../../authz/always.ts";
import { connectors } from "../../connect/index.ts";
import { type TestServer, type TestServerOptions, testServer } from "../../testing/index.ts";
import { mastersOnly } from "../../testing/masters-only.ts";

const JANE = { name: "jane", groups: ["dev", "system:authenticated"], extra: { scopes: ["a"] } };

export function serverWithConnectors(options: TestServerOptions): Promise<TestServer> {
  return testServer({
    ...options,
    connectors: (context, resources) =>
      connectors({
        context,
        resources,
        authenticateToken: forApi(["api"], staticTokens(new Map([["good", JANE]]))),
        authorize: mastersOnly,
        rulesFor: alwaysAllow().rulesFor,
        audiences: ["api"],
        tokens: {
          issuer: "https://issuer",
          audiences: ["api"],
          extendExpiration: true,
          sign: async (claims) => JSON.stringify(claims),
        },
      }),
  });
}
