import type { KeyManagement } from './key-management.ts';

export async function openKeyring(_path: string): Promise<KeyManagement> {
  throw new Error('unwritten');
}
export async function createKeyring(_path: string): Promise<KeyManagement> {
  throw new Error('unwritten');
}
export async function keyringExists(_path: string): Promise<boolean> {
  throw new Error('unwritten');
}
