/** Removes bootstrap tokens that have expired. */
import { changesOf, defineController, Secret } from "../runtime/index.ts";
import { expiryOf, isToken } from "./token.ts";

export const tokenCleaner = defineController({
  name: "token-cleaner-controller",
  account: "token-cleaner",
  offByDefault: true,
  bind({ cache }) {
    const secrets = cache(Secret);
    return {
      sources: [changesOf(Secret, ({ type, object }) => type !== "deleted" && isToken(object))],
      reconcile(key, now) {
        const secret = secrets.get(key);
        if (secret === undefined || !isToken(secret)) return undefined;
        const due = expiryOf(secret);
        if (due > now) return due === Number.POSITIVE_INFINITY ? undefined : { againAfterMs: due - now };
        return { steps: [[{ verb: "delete", resource: Secret, object: secret }]] };
      },
    };
  },
});
