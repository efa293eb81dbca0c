/** A real OpenID Connect provider on loopback, with TLS. Its keys can be replaced while it runs. */
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { CompactSign, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import Provider from "oidc-provider";
import { realClock } from "#base";
import { type Authority, createAuthority } from "#pki";

export interface OidcServer {
  readonly issuer: string;
  readonly ca: string;
  readonly authority: Authority;
  /** How often its documents were fetched, by path. */
  readonly fetched: Map<string, number>;
  /** A token of its token endpoint, with these claims. */
  token(claims?: object): Promise<string>;
  /** A token with its signature and any claims, also some that its token endpoint would not give. */
  signed(claims: object): Promise<string>;
  /** Signs with a new key from now on. `keep`: the old one stays in the key set. */
  rotate(options: { keep: boolean; alg?: string }): Promise<void>;
  /** Answers a path of its own, besides those of the provider. */
  serve(path: string, listener: RequestListener): void;
  /** Answers nothing but 503. */
  unavailable(is: boolean): void;
  close(): Promise<void>;
}

const CLIENT = { id: "kubectl", secret: "secret" };
export const AUDIENCE = "kubernetes";

/** `authority`: that of another server, so that a client trusts both. */
export async function startOidcServer(options: { readonly authority?: Authority } = {}): Promise<OidcServer> {
  const clock = realClock();
  const authority = options.authority ?? (await createAuthority({ commonName: "oidc", clock }));
  const pair = await authority.issue({ commonName: "oidc", ipAddresses: ["127.0.0.1"], usages: ["server"] });
  const fetched = new Map<string, number>();
  let handle: RequestListener = () => {};
  const own = new Map<string, RequestListener>();
  let broken = false;
  const server = createServer({ cert: pair.certPem, key: pair.keyPem }, (incoming, response) => {
    const path = incoming.url ?? "";
    fetched.set(path, (fetched.get(path) ?? 0) + 1);
    if (broken) response.writeHead(503).end();
    else (own.get(path) ?? handle)(incoming, response);
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
    authority,
    fetched,
    rotate,
    serve: (path, listener) => void own.set(path, listener),
    unavailable: (is) => {
      broken = is;
    },
    async signed(wanted) {
      const [{ alg = "RS256", kid = "", ...key } = { kty: "RSA" }] = keys;
      const text = Buffer.from(JSON.stringify({ iss: issuer, ...wanted }));
      return new CompactSign(text).setProtectedHeader({ alg, kid }).sign(await importJWK({ ...key, alg }));
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
