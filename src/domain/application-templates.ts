import type { AccessRule } from './access.ts';
import type { ApplicationType } from './applications.ts';
import type { Permission } from './permissions.ts';

/** Access for a common kind of application, to begin with. */
export interface ApplicationTemplate {
  /** UUID; the same in every release. */
  id: string;
  name: string;
  description: string;
  applicationType: ApplicationType;
  permissions: readonly Permission[];
  rules: readonly AccessRule[];
}

/** Ordered from collecting data over using it to running the vault. */
export const APPLICATION_TEMPLATES: readonly ApplicationTemplate[] = [
  {
    id: 'f2a5bb4c-6d4f-4f0e-9f0a-3f4f5f4a7b01',
    name: 'Collect cards',
    description: 'A browser or mobile app that stores cards and sees none of them again',
    applicationType: 'public',
    permissions: [],
    rules: [
      {
        description: 'Store cards',
        priority: 1,
        container: '/pci/',
        transform: 'redact',
        permissions: ['token:create'],
      },
    ],
  },
  {
    id: 'f2a5bb4c-6d4f-4f0e-9f0a-3f4f5f4a7b02',
    name: 'Collect personal data',
    description: 'A browser or mobile app that stores personal data and sees none of it again',
    applicationType: 'public',
    permissions: [],
    rules: [
      {
        description: 'Store personal data',
        priority: 1,
        container: '/pii/',
        transform: 'redact',
        permissions: ['token:create'],
      },
    ],
  },
  {
    id: 'f2a5bb4c-6d4f-4f0e-9f0a-3f4f5f4a7b03',
    name: 'Serve masked data',
    description: 'A backend that stores, finds and shows tokens masked, and never in plaintext',
    applicationType: 'private',
    permissions: ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'],
    rules: [],
  },
  {
    id: 'f2a5bb4c-6d4f-4f0e-9f0a-3f4f5f4a7b04',
    name: 'Use cards',
    description: 'A backend that reads cards in plaintext and has reactors and proxies use them',
    applicationType: 'private',
    permissions: [],
    rules: [
      {
        description: 'Read and use cards in plaintext',
        priority: 1,
        container: '/pci/',
        transform: 'reveal',
        permissions: ['token:read', 'token:use'],
      },
    ],
  },
  {
    id: 'f2a5bb4c-6d4f-4f0e-9f0a-3f4f5f4a7b05',
    name: 'Manage applications and reactors',
    description: 'Infrastructure code that makes and changes applications, their keys and reactors',
    applicationType: 'management',
    permissions: [
      'application:create',
      'application:read',
      'application:update',
      'application:delete',
      'reactor:create',
      'reactor:read',
      'reactor:update',
      'reactor:delete',
    ],
    rules: [],
  },
  {
    id: 'f2a5bb4c-6d4f-4f0e-9f0a-3f4f5f4a7b06',
    name: 'Read logs and usage',
    description: 'A tool that follows what happens in the tenant and changes nothing',
    applicationType: 'management',
    permissions: ['log:read', 'report:read', 'tenant:read'],
    rules: [],
  },
];
