/** Written by scripts/api-facts.ts from k8s.io/api/node/v1 0.36.4: not to be edited. */
export const nodeV1 = `
package io.k8s.api.node.v1
use core io.k8s.api.core.v1
use meta io.k8s.apimachinery.pkg.apis.meta.v1

Overhead
 1 podFixed? core.ResourceList

RuntimeClass
 0 ... meta.TypeMeta
 1 metadata? meta.ObjectMeta
 2 handler! string
 3 overhead? *Overhead
 4 scheduling? *Scheduling

RuntimeClassList
 0 ... meta.TypeMeta
 1 metadata? meta.ListMeta
 2 items! []RuntimeClass

Scheduling
 1 nodeSelector? {}string map=atomic
 2 tolerations? []core.Toleration list=atomic
`;
