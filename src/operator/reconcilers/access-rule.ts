import { ready, stalled, waiting } from '../conditions.ts';
import type { AccessRuleResource } from '../kinds/access-rule.ts';
import type { ApplicationResource } from '../kinds/application.ts';
import { isDeleting, isReady } from '../kinds/resources.ts';
import { applicationsFor, resolveRules, rulesFor } from '../rule-resolution.ts';
import type { RuleRefusal } from '../rule-resolution.ts';
import type { ReconcileContext, Reconciler, Reconciliation } from './types.ts';

/** Tells whether AccessRules are in force; it is their applications' reconciler that puts them there. */
export class AccessRuleReconciler implements Reconciler<'AccessRule'> {
  readonly #context: ReconcileContext;

  constructor(context: ReconcileContext) {
    this.#context = context;
  }

  async reconcile(rule: AccessRuleResource): Promise<Reconciliation<'AccessRule'>> {
    const applications = this.#applicationsOf(rule);
    if (applications.length === 0) return { outcome: notFound(rule), status: inForceFor([]) };

    const inForce = applications.filter((application) => isInForce(rule, application)).map(nameOf);
    const status = inForceFor(inForce);
    const refusal = this.#findRefusal(rule, applications);
    if (refusal !== undefined) return { outcome: stalled(refusal.reason, refusal.message), status };

    const pending = applications.filter((application) => !isInForce(rule, application)).map(nameOf);
    if (pending.length > 0) {
      return { outcome: waiting('ApplicationNotReady', `Waits for Application ${listNames(pending)}`), status };
    }
    return { outcome: ready(`In force for ${listNames(inForce)}`), status };
  }

  /** Nothing to clean up: the applications' reconciler leaves out a rule that is gone. */
  async finalize(): Promise<void> {}

  #applicationsOf(rule: AccessRuleResource): ApplicationResource[] {
    return applicationsFor(this.#context.store, rule)
      .filter((application) => !isDeleting(application))
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  #findRefusal(rule: AccessRuleResource, applications: ApplicationResource[]): RuleRefusal | undefined {
    for (const application of applications) {
      const candidates = rulesFor(this.#context.store, application);
      const refusal = resolveRules(application, candidates).refusals.get(rule.metadata.name);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
}

const NAMES_SHOWN = 10;

/** No list rather than an empty one: the API server drops that, and it would be written again each time. */
function inForceFor(applications: string[]): { applications: string[] | undefined } {
  return { applications: applications.length === 0 ? undefined : applications };
}

/** The first of a list that may be long. */
function listNames(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

const nameOf = ({ metadata }: ApplicationResource) => metadata.name;

function isInForce({ metadata }: AccessRuleResource, application: ApplicationResource): boolean {
  const inForce = application.status?.accessRules ?? [];
  const entry = inForce.find(({ name }) => name === metadata.name);
  // A rule that is made anew begins with the generation that the earlier one had.
  return entry?.uid === metadata.uid && entry?.generation === metadata.generation && isReady(application);
}

function notFound({ spec }: AccessRuleResource): ReturnType<typeof waiting> {
  const { applicationRef } = spec;
  return waiting(
    'ApplicationNotFound',
    applicationRef === undefined
      ? 'Waits for an Application with the selected labels'
      : `Waits for Application ${applicationRef.name}`,
  );
}
