/** What the user may do, as the API server's authorizers say. */
import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
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

/** Whether the user may do all of this. Until the server has answered: no. Undefined asks nothing. */
export function useMay(permissions: readonly Permission[] | undefined): ReadonlySignal<boolean> {
  const may = useSignal(false);
  const asked = JSON.stringify(permissions);
  useEffect(() => {
    may.value = false;
    if (permissions === undefined) return undefined;
    const abort = new AbortController();
    mayAll(permissions, abort.signal).then(
      (isAllowed) => {
        if (!abort.signal.aborted) may.value = isAllowed;
      },
      // Who may not even ask may not do it.
      () => undefined,
    );
    return () => abort.abort();
  }, [asked, may]);
  return may;
}
