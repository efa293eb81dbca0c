/** Admission with no plugin in it. */
import type { Admission } from "./server-context.ts";

export const noAdmission: Admission = {
  mutate: async () => {},
  validate: async () => {},
  looks: () => false,
};
