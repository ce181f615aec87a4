-- Which rate limits hold for a tenant is one of its quotas.
update tenants set quotas = quotas || '{"rateLimit": {"plan": "Default"}}' where not quotas ? 'rateLimit';
