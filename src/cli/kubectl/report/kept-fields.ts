/**
 * Which texts of an object go into a report: names, states and what is one of a list. A path is that of a text in its
 * object, with `[]` for any element. Whatever is not here is redacted, so that a field nobody has thought of is too.
 */
const KEPT: readonly RegExp[] = [
  /^(?:apiVersion|kind|type|reason|count)$/,
  // The cluster's version.
  /^(?:gitVersion|goVersion|platform)$/,
  /^metadata\.(?:name|generateName|namespace|uid|resourceVersion|creationTimestamp|deletionTimestamp|finalizers\[\])$/,
  /^metadata\.ownerReferences\[\]\.(?:apiVersion|kind|name|uid)$/,
  /(?:^|\.)labels\.(?:app\.kubernetes\.io\/(?:name|instance|component|version|managed-by)|pod-template-hash)$/,
  /(?:^|\.)labels\.tokenkeep\.dev\/(?:revision|reactor-id|tenant-id|job)$/,
  /\.conditions\[\]\.(?:type|status|reason|lastTransitionTime|lastUpdateTime)$/,
  // What is declared.
  /^spec\.(?:type|deletionPolicy|transform|scaling\.engine|permissions\[\])$/,
  /^spec\.(?:application|tenant)Ref\.name$/,
  /^status\.(?:id|tenantId|secretName|engine|deletionPolicy)$/,
  // Deployments and pods.
  /\.(?:c|initC|ephemeralC)ontainers\[\]\.(?:name|image|imagePullPolicy|restartPolicy|ports\[\]\.(?:name|protocol))$/,
  /\.resources\.(?:limits|requests)\.[a-z-]+$/,
  /^spec\.(?:nodeName|serviceAccountName|restartPolicy|strategy\.type)$/,
  /^spec\.(?:dnsPolicy|schedulerName|preemptionPolicy|tolerations\[\]\.(?:key|operator|effect))$/,
  /ontainers\[\]\.(?:terminationMessagePath|terminationMessagePolicy)$/,
  /^status\.(?:phase|reason|qosClass|startTime)$/,
  /^status\.\w+Statuses\[\]\.(?:name|image|imageID)$/,
  /^status\.\w+Statuses\[\]\.(?:state|lastState)\.\w+\.(?:reason|startedAt|finishedAt)$/,
  // Events.
  /^involvedObject\.(?:kind|name|namespace|uid)$/,
  /^(?:firstTimestamp|lastTimestamp|eventTime|reportingComponent|source\.component)$/,
];

/** Sentences for people: they name what is wrong, and are searched for what was redacted elsewhere. */
const SENTENCES = /^(?:message|.*\.conditions\[\]\.message|status\.\w+Statuses\[\]\..*\.message)$/;

/** Maps whose keys are anybody's text. */
const FREE_MAPS = /(?:^|\.)(?:labels|annotations|configuration|matchLabels|nodeSelector)$/;
const OUR_KEYS = /^(?:[a-z-]+\.)*(?:kubernetes\.io|k8s\.io|helm\.sh|tokenkeep\.dev)\/[\w.-]+$|^pod-template-hash$/;

export type Treatment = 'keep' | 'search' | 'redact';

export function treatmentOf(path: string): Treatment {
  if (SENTENCES.test(path)) return 'search';
  return KEPT.some((pattern) => pattern.test(path)) ? 'keep' : 'redact';
}

/** Whether a key of the map at this path is no name of a field. */
export function isFreeKey(path: string, key: string): boolean {
  return FREE_MAPS.test(path) && !OUR_KEYS.test(key);
}

/** Of a program of ours. */
export const isOurArgument = (path: string): boolean => /ontainers\[\]\.args\[ours\]\[\]$/.test(path);

/** Where a password may stand by itself, however short it is: also in a command or a header of a probe. */
export const mayBePassword = (path: string): boolean =>
  /ontainers\[\]\.(?:.*\.)?(?:args\[\]|command\[\]|value)$|^spec\.configuration\./.test(path);
