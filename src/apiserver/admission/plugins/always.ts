/** AlwaysAdmit and AlwaysDeny. */
import { type AdmissionPlugin, refused, rule } from "../chain/plugin.ts";

const ALL = "CREATE UPDATE DELETE CONNECT";

export const alwaysAdmit: AdmissionPlugin = { name: "AlwaysAdmit" };

export const alwaysDeny: AdmissionPlugin = {
  name: "AlwaysDeny",
  mutates: [
    rule(ALL, "*/*", (attributes) => {
      throw refused(attributes, "admission control is denying all modifications");
    }),
  ],
};
