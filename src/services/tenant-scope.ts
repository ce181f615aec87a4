export { withinTenant } from '../data/tenant-scope.ts';
