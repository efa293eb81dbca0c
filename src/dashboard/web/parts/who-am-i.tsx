/** The user whose credentials the page uses. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api/request.ts";
import { usePage } from "../page.ts";

interface Review {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

export function WhoAmI() {
  const { session } = usePage();
  const user = useSignal("");
  useEffect(() => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    ask<Review>("/apis/authentication.k8s.io/v1/selfsubjectreviews", { method: "POST", body }).then(
      ({ status }) => {
        user.value = status?.userInfo?.username ?? "";
      },
      () => {
        user.value = "unknown";
      },
    );
  }, [user]);
  return (
    <div class="who" title={session.server}>
      <span class="dim">as</span> {user}
      <div class="dim">{session.context ?? session.server}</div>
    </div>
  );
}
