import type { ApplicationTemplate } from '../../../domain/application-templates.ts';

export function presentTemplate({ applicationType, ...template }: ApplicationTemplate) {
  // Ours, not a tenant's own, and made to begin with.
  return structuredClone({
    ...template,
    application_type: applicationType,
    template_type: 'official',
    is_starter: true,
  });
}
