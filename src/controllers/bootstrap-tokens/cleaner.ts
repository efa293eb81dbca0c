/** Deletes expired bootstrap tokens. */
import { kinds } from "#api";
import { changesOf, defineController } from "../runtime/index.ts";
import { expiryOf, isToken } from "./token.ts";

export const tokenCleaner = defineController({
  name: "token-cleaner-controller",
  account: "token-cleaner",
  offByDefault: true,
  bind({ cache }) {
    const secrets = cache(kinds.Secret);
    return {
      sources: [changesOf(kinds.Secret, ({ type, object }) => type !== "deleted" && isToken(object))],
      reconcile(key, now) {
        const secret = secrets.get(key);
        if (secret === undefined || !isToken(secret)) return undefined;
        const due = expiryOf(secret);
        if (due > now) return due === Number.POSITIVE_INFINITY ? undefined : { againAfterMs: due - now };
        return { steps: [[{ verb: "delete", resource: kinds.Secret, object: secret }]] };
      },
    };
  },
});
