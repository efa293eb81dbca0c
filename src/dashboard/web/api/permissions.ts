/** What the user may do, as the API server's authorizers say. */
import type { Permission } from "../model/actions.ts";
import { ask } from "./request.ts";

interface Review {
  readonly status?: { readonly allowed?: boolean };
}

export async function mayAll(permissions: readonly Permission[], signal: AbortSignal): Promise<boolean> {
  const answers = await Promise.all(
    permissions.map((resourceAttributes) =>
      ask<Review>("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        method: "POST",
        body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } },
        signal,
      }),
    ),
  );
  return answers.every(({ status }) => status?.allowed === true);
}
