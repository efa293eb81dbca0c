/** The schema of BackendTLSPolicies. Pure. */
import {
  chars,
  conditions,
  controllerName,
  group,
  kind,
  list,
  object,
  objectName,
  oneOf,
  parentReference,
  preciseHostname,
  rules,
  sectionName,
} from "./schema-parts.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };
const target = object({ group: group(), kind: kind(), name: objectName, sectionName }, ["group", "kind", "name"]);
const authority = object({ group: group(), kind: kind(), name: objectName }, ["group", "kind", "name"]);

const subjectAltName = object(
  {
    type: oneOf(["Hostname", "URI"]),
    hostname: chars(1, 253, { pattern: "^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" }),
    uri: chars(1, 253, { pattern: "^(([^:/?#]+):)(//([^/?#]*))([^?#]*)(\\?([^#]*))?(#(.*))?" }),
  },
  ["type"],
  rules(
    [
      '!(self.type == "Hostname" && (!has(self.hostname) || self.hostname == ""))',
      "SubjectAltName element must contain Hostname, if Type is set to Hostname",
    ],
    [
      '!(self.type != "Hostname" && has(self.hostname) && self.hostname != "")',
      "SubjectAltName element must not contain Hostname, if Type is not set to Hostname",
    ],
    [
      '!(self.type == "URI" && (!has(self.uri) || self.uri == ""))',
      "SubjectAltName element must contain URI, if Type is set to URI",
    ],
    [
      '!(self.type != "URI" && has(self.uri) && self.uri != "")',
      "SubjectAltName element must not contain URI, if Type is not set to URI",
    ],
  ),
);

const validation = object(
  {
    hostname: preciseHostname,
    caCertificateRefs: list(authority, 8, atomic),
    wellKnownCACertificates: oneOf(["System"]),
    subjectAltNames: list(subjectAltName, 5, atomic),
  },
  ["hostname"],
  rules(
    [
      '!(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 && has(self.wellKnownCACertificates) && self.wellKnownCACertificates != "")',
      "must not contain both CACertificateRefs and WellKnownCACertificates",
    ],
    [
      '(has(self.caCertificateRefs) && size(self.caCertificateRefs) > 0 || has(self.wellKnownCACertificates) && self.wellKnownCACertificates != "")',
      "must specify either CACertificateRefs or WellKnownCACertificates",
    ],
  ),
);

export const backendTlsPolicy = object(
  {
    spec: object({ targetRefs: list(target, 16, { ...atomic, minItems: 1 }), validation }, [
      "targetRefs",
      "validation",
    ]),
    status: object(
      {
        ancestors: list(
          object({ ancestorRef: parentReference, controllerName, conditions }, [
            "ancestorRef",
            "controllerName",
            "conditions",
          ]),
          16,
          atomic,
        ),
      },
      ["ancestors"],
    ),
  },
  ["spec"],
);
