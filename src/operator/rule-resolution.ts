import type { AccessRule } from '../domain/access.ts';
import { mayHold } from '../domain/permissions.ts';
import type { StalledReason } from './conditions.ts';
import type { AccessRuleResource } from './kinds/access-rule.ts';
import type { ApplicationResource } from './kinds/application.ts';
import { bySeniority, isDeleting } from './kinds/resources.ts';
import { labelKey, nameKey } from './lookups.ts';
import type { ResourceStore } from './store.ts';

/** Why an AccessRule is not in force for an application. */
export interface RuleRefusal {
  reason: StalledReason;
  message: string;
}

export interface ResolvedRules {
  /** In ascending priority. */
  rules: AccessRule[];
  /** The AccessRules among them. */
  accessRules: AccessRuleResource[];
  /** By name of the AccessRule. */
  refusals: Map<string, RuleRefusal>;
}

/** Whether the rule is meant for the application; both are of one namespace. */
export function selects({ spec }: AccessRuleResource, { metadata }: ApplicationResource): boolean {
  if (spec.applicationRef !== undefined) return spec.applicationRef.name === metadata.name;
  const wanted = Object.entries(spec.applicationSelector?.matchLabels ?? {});
  return wanted.length > 0 && wanted.every(([label, value]) => metadata.labels[label] === value);
}

/** The AccessRules that are meant for an application. */
export function rulesFor(store: ResourceStore, application: ApplicationResource): AccessRuleResource[] {
  const { namespace, name, labels } = application.metadata;
  const naming = store.find('rulesNaming', nameKey('Application', namespace, name));
  const selecting = Object.entries(labels).flatMap(([label, value]) => [
    ...store.find('rulesSelecting', labelKey(namespace, label, value)),
  ]);
  return [...naming, ...selecting].filter((rule) => selects(rule, application));
}

/** The applications that an AccessRule is meant for. */
export function applicationsFor(store: ResourceStore, rule: AccessRuleResource): ApplicationResource[] {
  const { metadata, spec } = rule;
  if (spec.applicationRef !== undefined) {
    const application = store.get('Application', metadata.namespace, spec.applicationRef.name);
    return application === undefined ? [] : [application];
  }
  const labelled = Object.entries(spec.applicationSelector?.matchLabels ?? {}).map(([label, value]) =>
    store.find('applicationsLabelled', labelKey(metadata.namespace, label, value)),
  );
  const [fewest = []] = labelled.sort((a, b) => a.size - b.size);
  return [...fewest].filter((application) => selects(rule, application));
}

/**
 * The rules of an application: its own, then AccessRules of its namespace from the eldest on. A rule whose priority is
 * taken, or that grants what the application may not hold, is left out; the others stay in force.
 */
export function resolveRules(application: ApplicationResource, candidates: AccessRuleResource[]): ResolvedRules {
  const { name } = application.metadata;
  const holders = new Map(application.spec.rules.map((rule) => [rule.priority, `Application ${name} itself`]));
  const rules = [...application.spec.rules];
  const accessRules: AccessRuleResource[] = [];
  const refusals = new Map<string, RuleRefusal>();
  const meant = candidates.filter((rule) => !isDeleting(rule) && selects(rule, application)).sort(bySeniority);
  for (const candidate of meant) {
    const { priority } = candidate.spec;
    const holder = holders.get(priority);
    const forbidden = candidate.spec.permissions.find((permission) => !mayHold(application.spec.type, permission));
    if (forbidden !== undefined) {
      const message = `${application.spec.type} Application ${name} may not hold ${forbidden}`;
      refusals.set(candidate.metadata.name, { reason: 'PermissionNotAllowed', message });
    } else if (holder !== undefined) {
      const message = `Priority ${priority} in Application ${name} is taken by ${holder}`;
      refusals.set(candidate.metadata.name, { reason: 'PriorityConflict', message });
    } else {
      holders.set(priority, `AccessRule ${candidate.metadata.name}`);
      rules.push(toRule(candidate));
      accessRules.push(candidate);
    }
  }
  return { rules: rules.sort((a, b) => a.priority - b.priority), accessRules, refusals };
}

function toRule({ spec }: AccessRuleResource): AccessRule {
  const { applicationRef: _ref, applicationSelector: _selector, ...rule } = spec;
  return rule;
}
