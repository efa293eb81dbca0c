/**
 * Signs the ConfigMap cluster-info with every bootstrap token that is enabled for signing.
 *
 *     tokens, cluster-info --► wanted signatures ══► cluster-info
 */
import { type core, kinds } from "#api";
import { defineController, keysFrom, type Plan } from "../runtime/index.ts";
import { detachedSignature } from "./signature.ts";
import { expiryOf, isToken, signingToken, TOKEN_NAMESPACE } from "./token.ts";

const KEY = "kube-public/cluster-info";
const CONTENT = "kubeconfig";
const SIGNATURE_PREFIX = "jws-kubeconfig-";

export const bootstrapSigner = defineController({
  name: "bootstrap-signer-controller",
  account: "bootstrap-signer",
  offByDefault: true,
  bind({ cache }) {
    const infos = cache(kinds.ConfigMap);
    const tokens = cache(kinds.Secret).index("bootstrapToken", (secret) => (isToken(secret) ? [TOKEN_NAMESPACE] : []));
    return {
      sources: [
        keysFrom(kinds.ConfigMap, ({ object }) =>
          `${object.metadata.namespace}/${object.metadata.name}` === KEY ? [KEY] : [],
        ),
        keysFrom(kinds.Secret, ({ object }) => (isToken(object) ? [KEY] : [])),
      ],
      reconcile: (key, now) => planSignatures(infos.get(key), tokens(TOKEN_NAMESPACE), now),
    };
  },
});

export function planSignatures(
  info: core.ConfigMap | undefined,
  tokens: readonly core.Secret[],
  now: number,
): Plan | undefined {
  const content = info?.data?.[CONTENT];
  if (info === undefined || content === undefined) return undefined;
  const counting = tokens.flatMap((token) => signingToken(token, now) ?? []);
  const signatures = counting.map((token) => [SIGNATURE_PREFIX + token.id, detachedSignature(content, token)] as const);
  const others = Object.entries(info.data ?? {}).filter(([name]) => !name.startsWith(SIGNATURE_PREFIX));
  const data = Object.fromEntries([...others, ...signatures]);
  const next = Math.min(...tokens.filter((token) => signingToken(token, now) !== undefined).map(expiryOf));
  const later = Number.isFinite(next) ? { againAfterMs: next - now } : {};
  if (isSame(data, info.data ?? {})) return later;
  const object = { ...info, metadata: info.metadata ?? {}, data };
  return { steps: [[{ verb: "update", resource: kinds.ConfigMap, object }]], ...later };
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
