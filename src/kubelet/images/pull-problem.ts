/** What a failed pull is called: CRI's own errors have reasons of their own. Pure. */

export interface PullProblem {
  readonly reason: "ErrImagePull" | "RegistryUnavailable" | "SignatureValidationFailed";
  readonly message: string;
}

const OF_CRI = [
  ["RegistryUnavailable", "the registry is unavailable"],
  ["SignatureValidationFailed", "the signature validation failed"],
] as const;

export function pullProblem(image: string, error: string): PullProblem {
  for (const [reason, words] of OF_CRI) {
    if (error.startsWith(reason))
      return { reason, message: `image pull failed for ${image} because ${words}${error.slice(reason.length)}` };
  }
  return { reason: "ErrImagePull", message: error };
}
