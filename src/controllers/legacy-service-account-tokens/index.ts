/** Marks unused auto-generated token Secrets after a year, and deletes them after another. */
import { type core, type KubeObject, kinds } from "#api";
import { type Controller, changesOf, defineController } from "../runtime/index.ts";
import { accountKeys, isOf, TOKEN_TYPE } from "../service-account-tokens/plan.ts";
import { mountedSecrets } from "./mounted.ts";
import { decide, INVALID_SINCE } from "./plan.ts";

const TRACKING = "kube-system/kube-apiserver-legacy-service-account-token-tracking";
const EVERY_MS = 24 * 3_600_000;

export interface LegacyTokenSettings {
  /** `--legacy-service-account-token-clean-up-period`. Default: a year. */
  readonly restMs?: number | undefined;
}

export const legacyServiceAccountTokenCleaner = legacyTokenCleaner({});

export function legacyTokenCleaner({ restMs }: LegacyTokenSettings): Controller {
  return defineController({
    name: "legacy-serviceaccount-token-cleaner-controller",
    account: "legacy-service-account-token-cleaner",
    bind({ cache }) {
      const secrets = cache(kinds.Secret);
      const accounts = cache(kinds.ServiceAccount);
      const tracking = cache(kinds.ConfigMap);
      const mounting = cache(kinds.Pod).index("mountedSecret", mountedSecrets);
      const isListed = (secret: core.Secret) => {
        const account = accounts.get(accountKeys(secret)[0] ?? "");
        const name = secret.metadata?.name;
        return (
          account !== undefined && isOf(secret, account) && (account.secrets ?? []).some((one) => one.name === name)
        );
      };
      return {
        sources: [changesOf(kinds.Secret, ({ type, object }) => type !== "deleted" && object.type === TOKEN_TYPE)],
        reconcile(key, now) {
          const secret = secrets.get(key);
          if (secret === undefined || secret.type !== TOKEN_TYPE) return undefined;
          const decision = decide(secret, {
            trackedSince: tracking.get(TRACKING)?.data?.since,
            listed: isListed(secret),
            mounted: mounting(key).length > 0,
            now,
            restMs,
          });
          const again = { againAfterMs: EVERY_MS };
          const object = secret as KubeObject;
          if (decision.do === "keep") return again;
          if (decision.do === "delete")
            return { steps: [[{ verb: "delete", resource: kinds.Secret, object, unchanged: true }]], ...again };
          const { uid = "" } = object.metadata;
          const patch = { metadata: { uid, labels: { [INVALID_SINCE]: decision.since } } };
          return { steps: [[{ verb: "patch", resource: kinds.Secret, object, type: "merge", patch }]], ...again };
        },
      };
    },
  });
}
