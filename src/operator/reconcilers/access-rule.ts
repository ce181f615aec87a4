import { ready, stalled, waiting } from '../conditions.ts';
import type { AccessRuleResource } from '../kinds/access-rule.ts';
import type { ApplicationResource } from '../kinds/application.ts';
import { isDeleting, isReady } from '../kinds/resources.ts';
import { resolveRules, selects } from '../rule-resolution.ts';
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
    if (applications.length === 0) return { outcome: notFound(rule), status: { applications: [] } };

    const status = { applications: applications.filter((application) => isInForce(rule, application)).map(nameOf) };
    const refusal = this.#findRefusal(rule, applications);
    if (refusal !== undefined) return { outcome: stalled(refusal.reason, refusal.message), status };

    const pending = applications.filter((application) => !isInForce(rule, application)).map(nameOf);
    if (pending.length > 0) {
      return { outcome: waiting('ApplicationNotReady', `Waits for Application ${pending.join(', ')}`), status };
    }
    return { outcome: ready(`In force for ${status.applications.join(', ')}`), status };
  }

  /** Nothing to clean up: the applications' reconciler leaves out a rule that is gone. */
  async finalize(): Promise<void> {}

  #applicationsOf(rule: AccessRuleResource): ApplicationResource[] {
    return this.#context.store
      .list('Application', rule.metadata.namespace)
      .filter((application) => !isDeleting(application) && selects(rule, application))
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  #findRefusal(rule: AccessRuleResource, applications: ApplicationResource[]): RuleRefusal | undefined {
    const candidates = this.#context.store.list('AccessRule', rule.metadata.namespace);
    for (const application of applications) {
      const refusal = resolveRules(application, candidates).refusals.get(rule.metadata.name);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
}

const nameOf = ({ metadata }: ApplicationResource) => metadata.name;

function isInForce({ metadata }: AccessRuleResource, application: ApplicationResource): boolean {
  const inForce = application.status?.accessRules ?? [];
  const entry = inForce.find(({ name }) => name === metadata.name);
  return entry?.generation === metadata.generation && isReady(application);
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
