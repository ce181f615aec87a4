import type { AccessRule } from '../../domain/access.ts';
import type { CustomResource, ResourceStatus } from '../sources/types.ts';

/** As crds/accessrules.yaml says. */
export interface AccessRuleSpec extends AccessRule {
  applicationRef?: { name: string };
  applicationSelector?: { matchLabels: Record<string, string> };
}

export interface AccessRuleStatus extends ResourceStatus {
  /** Names of the applications that the rule is in force for. */
  applications?: string[];
}

export type AccessRuleResource = CustomResource<'AccessRule', AccessRuleSpec, AccessRuleStatus>;
