/** A real OpenID Connect provider on loopback, with TLS. Its keys can be replaced while it runs. */
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import Provider from "oidc-provider";
import { realClock } from "#base";
import { createAuthority } from "#pki";

export interface OidcServer {
  readonly issuer: string;
  readonly ca: string;
  /** How often its documents were fetched, by path. */
  readonly fetched: Map<string, number>;
  /** A token of its token endpoint, with these claims. */
  token(claims?: object): Promise<string>;
  /** Signs with a new key from now on. `keep`: the old one stays in the key set. */
  rotate(options: { keep: boolean; alg?: string }): Promise<void>;
  /** Answers nothing but 503. */
  unavailable(is: boolean): void;
  close(): Promise<void>;
}

const CLIENT = { id: "kubectl", secret: "secret" };
export const AUDIENCE = "kubernetes";

export async function startOidcServer(): Promise<OidcServer> {
  const clock = realClock();
  const authority = await createAuthority({ commonName: "oidc", clock });
  const pair = await authority.issue({ commonName: "oidc", ipAddresses: ["127.0.0.1"], usages: ["server"] });
  const fetched = new Map<string, number>();
  let handle: RequestListener = () => {};
  let broken = false;
  const server = createServer({ cert: pair.certPem, key: pair.keyPem }, (incoming, response) => {
    const path = incoming.url ?? "";
    fetched.set(path, (fetched.get(path) ?? 0) + 1);
    if (broken) response.writeHead(503).end();
    else handle(incoming, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const issuer = `https://127.0.0.1:${port}`;
  let keys: JWK[] = [];
  let claims: object = {};

  const rotate: OidcServer["rotate"] = async ({ keep, alg = "RS256" }) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    const fresh = { ...(await exportJWK(privateKey)), kid: `key-${clock.now()}-${keys.length}`, alg, use: "sig" };
    keys = keep ? [fresh, ...keys] : [fresh];
    handle = new Provider(
      issuer,
      configuration(keys, alg, () => claims),
    ).callback();
  };
  await rotate({ keep: false });

  return {
    issuer,
    ca: authority.certPem,
    fetched,
    rotate,
    unavailable: (is) => {
      broken = is;
    },
    async token(wanted = {}) {
      claims = wanted;
      const agent = new Agent({ ca: authority.certPem });
      const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64");
      const outgoing = request(`${issuer}/token`, {
        method: "POST",
        agent,
        headers: { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" },
      });
      outgoing.end("grant_type=client_credentials&resource=urn:kubernetes&scope=api");
      const [response] = await once(outgoing, "response");
      const answer = (await json(response)) as { access_token?: string };
      agent.destroy();
      if (answer.access_token === undefined) throw new Error(`no token: ${JSON.stringify(answer)}`);
      return answer.access_token;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function configuration(keys: readonly JWK[], alg: string, claims: () => object) {
  return {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: alg,
      },
    ],
    jwks: { keys },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "api",
          audience: AUDIENCE,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg } },
        }),
      },
    },
    extraTokenClaims: claims,
    ttl: { ClientCredentials: 7200 },
  };
}
