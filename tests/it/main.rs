//! probe
#[test]
fn probe() { let i = allocation_counter::measure(|| { let v = vec![1u8; 3]; std::hint::black_box(&v); }); assert_eq!(i.count_total, 1); let _ = (jsonschema::is_valid(&serde_json::json!({}), &serde_json::json!(1)), boon::Compiler::new()); }
