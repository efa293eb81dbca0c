// Runs inside of a Pod: verifies the token of its own file as any relying party would, by discovery alone.
// Prints one line of JSON.
import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const token = readFileSync(`${ACCOUNT}/token`, "utf8");

function get(url) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const headers = { authorization: `Bearer ${token}` };
  const ca = readFileSync(`${ACCOUNT}/ca.crt`);
  const asking = request(url, { ca, headers, timeout: 5000 }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    response.on("end", () => resolve(JSON.parse(text)));
  });
  asking.on("error", reject).end();
  return promise;
}

const [head, claims, signature] = token.split(".");
const decoded = (part) => JSON.parse(Buffer.from(part, "base64url"));
try {
  const discovered = await get(`https://${host}:${port}/.well-known/openid-configuration`);
  const { keys } = await get(discovered.jwks_uri);
  const jwk = keys.find(({ kid }) => kid === decoded(head).kid);
  // Signatures of JSON Web Tokens by elliptic curves are in this form; others ignore it.
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" };
  const isValid = verify("sha256", Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url"));
  console.log(
    JSON.stringify({ isValid, isIssuer: decoded(claims).iss === discovered.issuer, sub: decoded(claims).sub }),
  );
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
}
